//! `GET /v1/ranking/…`.

use crate::app::RequestContext;
use crate::archive;
use crate::cache::copies;
use crate::cache::hiding;
use crate::cache::response::{Copying, cached, stale};
use crate::events;
use crate::middleware::authentication::authenticate_counted;
use crate::movement;
use crate::response::Response;
use activity_rank_core::board::{
    ALL_TIME, BoardId, BoardKind, BoardQuery, BoardRequest, BoardSlice, CLOSED_MAX_AGE,
    CachedResponse, ComparisonRequest, Heading, HotRequest, PageRequest, PastBoard,
    StandingRequest, WinnersRequest,
};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::profile::Profile;
use activity_rank_store::boards::{self, RelatedBoards, StoredBoard, UserRank};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::{profiles, targets};
use std::cell::RefCell;

/// Reads the board of one request.
pub struct BoardReader<'a> {
    context: RequestContext<'a>,
    request: &'a dyn BoardRequest,
    /// `None` for an event that this isolate has not read yet.
    heading: RefCell<Option<Heading>>,
}

/// A page of a board: from the edge cache while it is fresh.
pub async fn page(
    context: RequestContext<'_>,
    kind: BoardKind,
    period: &str,
) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let request = PageRequest::parse(kind, period, query, config, context.today())?;
    let reader = BoardReader::new(context, &request);
    let max_age = if reader.is_closed() {
        CLOSED_MAX_AGE
    } else {
        config.board_max_age
    };
    let read = Box::pin(async { Ok(reader.render(&reader.read().await?)) });
    let copy: Copying<'_> = Box::new(|oldest| Box::pin(reader.copy(oldest)));
    cached(context, &request.normal_form(), max_age, read, Some(copy)).await
}

/// The first three users of past boards, cached like closed boards.
pub async fn winners(context: RequestContext<'_>, period: &str) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let request = WinnersRequest::parse(period, query, config, context.today())?;
    let (form, read) = (request.normal_form(), read_winners(context, &request));
    cached(context, &form, CLOSED_MAX_AGE, Box::pin(read), None).await
}

/// The targets that receive most at present, cached like an open board.
pub async fn hot(context: RequestContext<'_>) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let request = HotRequest::parse(query, config, context.today())?;
    let read = async {
        let hot = boards::read_hot(context.deployment, &request).await?;
        Ok(request.render(hot, config.layout))
    };
    let (form, max_age) = (request.normal_form(), config.board_max_age);
    cached(context, &form, max_age, Box::pin(read), None).await
}

/// Reads past boards from the store and the archive.
async fn read_winners(
    context: RequestContext<'_>,
    request: &WinnersRequest,
) -> Result<String, Error> {
    let deployment = context.deployment;
    let config = &deployment.config;
    let stored = boards::read_winners(deployment, request).await?;
    let archived = match &context.app.bindings.archive {
        Some(archive) => archive::read_winners(archive, config, request).await?,
        None => Vec::new(),
    };
    let mut past = request.merge(stored, archived, config.shards);
    add_profiles(deployment, &mut past).await?;
    let (calendar, now) = (&deployment.calendar, context.request.now);
    Ok(request.render(&past, calendar, now, config.layout))
}

/// Adds the profiles that boards of the archive lack.
async fn add_profiles(deployment: &Deployment, past: &mut [PastBoard]) -> Result<(), Error> {
    let lacking = past.iter().filter(|board| board.needs_profiles);
    let rows = lacking.flat_map(|board| &board.slice.rows);
    let users: Vec<&str> = rows.map(|row| row.user.as_str()).collect();
    let mut profiles = profiles::read_profiles(deployment, &users)
        .await?
        .into_iter();
    for board in past.iter_mut().filter(|board| board.needs_profiles) {
        for row in &mut board.slice.rows {
            row.profile = profiles.next().flatten();
        }
    }
    Ok(())
}

/// One standing.
pub async fn standing(
    context: RequestContext<'_>,
    kind: BoardKind,
    period: &str,
    id: &str,
) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let request = StandingRequest::parse(kind, period, id, query, config, context.today())?;
    BoardReader::new(context, &request).respond().await
}

/// A comparison of several users, or of a user and those whom they follow.
pub async fn comparison(
    context: RequestContext<'_>,
    kind: BoardKind,
    period: &str,
) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let caller = match ComparisonRequest::names_follower(query) {
        true => Some(authenticate_counted(context).await?),
        false => None,
    };
    let request = ComparisonRequest::parse(kind, period, query, config, context.today())?;
    let reader = BoardReader::new(context, &request);
    let (mut found, own, read);
    let mut named = request.clone();
    if let (Some(caller), Some(user)) = (caller, &request.followed_by) {
        caller.may_read(user)?;
        let (board, previous) = (request.board(), request.previous_board());
        let related = reader.related(previous.as_ref(), &[]);
        reader.read_heading().await?;
        let friends = |user| boards::read_friends(context.deployment, board, user, &related);
        let (mut users, mut stored) = friends(user).await?;
        found = std::mem::take(&mut stored.slice.accounts);
        let index = found.iter().position(|(account, _)| account == user);
        own = index.map(|index| found.swap_remove(index));
        if let Some((_, member)) = &own {
            (users, stored) = Box::pin(friends(member)).await?;
            found = std::mem::take(&mut stored.slice.accounts);
        }
        named = named.with_users(users);
        let reader = BoardReader::new(context, &named);
        read = Ok(reader.complete(stored, &related).await?);
    } else {
        own = None;
        read = reader.read().await;
        found = read
            .as_ref()
            .map_or_else(|_| Vec::new(), |slice| slice.accounts.clone());
    }
    if !found.is_empty() {
        found = accounts_of_visible(context, found).await?;
    }
    found.extend(own);
    let has_accounts = !found.is_empty();
    let request = named.with_members(found);
    let reader = BoardReader::new(context, &request);
    let read = match has_accounts {
        true => Box::pin(reader.read()).await,
        false => read,
    };
    reader.respond_with(read).await
}

/// Returns the accounts whose members boards show: others do not learn the id of a hidden member.
async fn accounts_of_visible(
    context: RequestContext<'_>,
    accounts: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, Error> {
    let members: Vec<&str> = accounts.iter().map(|(_, member)| member.as_str()).collect();
    let flags = profiles::read_flags(context.deployment, &members).await?;
    let mut accounts = accounts;
    let mut flags = flags.iter();
    accounts.retain(|_| flags.next().is_some_and(|flags| !flags.is_hidden()));
    Ok(accounts)
}

impl<'a> BoardReader<'a> {
    /// Returns the reader of a request.
    #[must_use]
    pub fn new(context: RequestContext<'a>, request: &'a dyn BoardRequest) -> Self {
        let (board, calendar) = (request.board(), &context.deployment.calendar);
        let heading = match board.event() {
            Some(event) => events::known_heading(context, event),
            None => {
                let period = board.period_view(calendar, context.request.now);
                Some(Heading::Period(period))
            }
        };
        Self {
            context,
            request,
            heading: RefCell::new(heading),
        }
    }

    /// Reads the definition of an event.
    async fn read_heading(&self) -> Result<(), Error> {
        if let Some(event) = self.request.board().event() {
            let heading = events::read_heading(self.context, event).await?;
            self.heading.replace(Some(heading));
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        self.closed().is_some()
    }

    /// Returns the instant from which the event is final, empty for a period; `None` while the board is open.
    fn closed(&self) -> Option<String> {
        let heading = self.heading.borrow();
        let closed = heading.as_ref().filter(|heading| heading.is_closed());
        closed.map(|heading| heading.final_at().to_owned())
    }

    /// Returns the board as it is now, or a copy while the store is unavailable. No cache may store
    /// the response.
    async fn respond(&self) -> Result<Response, Error> {
        self.respond_with(self.read().await).await
    }

    /// Responds as [`Self::respond`] with a slice that was read, or the error of the read.
    async fn respond_with(&self, read: Result<BoardSlice, Error>) -> Result<Response, Error> {
        let response = match read {
            Ok(slice) => Response::text("application/json", self.render(&slice)),
            Err(error) => {
                let copy = async {
                    let oldest = hiding::oldest_allowed(self.context).await?;
                    self.copy(oldest).await
                };
                stale(self.context.request, error, copy).await?
            }
        };
        Ok(response.with("cache-control", "no-store"))
    }

    /// Renders the response body.
    #[must_use]
    pub fn render(&self, slice: &BoardSlice) -> String {
        let (config, heading) = (&self.context.deployment.config, self.heading.borrow());
        let heading = heading.as_ref();
        heading.map_or_else(String::new, |heading| {
            self.request.render(slice, heading, config)
        })
    }

    /// Reads the board from the store; a closed board that the store does not have completely, from
    /// the archive.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`].
    pub async fn read(&self) -> Result<BoardSlice, Error> {
        self.read_heading().await?;
        let (board, query) = (self.request.board(), self.request.query());
        let previous = self.request.previous_board();
        let now = self.context.request.now;
        let known = previous.as_ref().map(|board| movement::known(board, now));
        let known = known.unwrap_or_default();
        let related = self.related(previous.as_ref(), &known);
        let stored = boards::read(self.context.deployment, board, &query, &related).await?;
        self.complete(stored, &related).await
    }

    /// Returns what to read of other boards.
    fn related<'b>(
        &self,
        previous: Option<&'b BoardId>,
        known: &'b [UserRank],
    ) -> RelatedBoards<'b> {
        RelatedBoards {
            previous,
            known,
            all_time: self.has_levels() && self.request.board().name() != ALL_TIME,
        }
    }

    /// Adds to a board of the store what the archive and the memory of the isolate know.
    async fn complete(
        &self,
        mut stored: StoredBoard,
        related: &RelatedBoards<'_>,
    ) -> Result<BoardSlice, Error> {
        let found = stored.previous.take();
        let accounts = std::mem::take(&mut stored.slice.accounts);
        let (mut slice, is_archived) = self.or_archived(stored, &self.request.query()).await?;
        if let (Some(board), Some(found)) = (related.previous, found) {
            let read = if is_archived {
                let users: Vec<String> = slice.users().cloned().collect();
                movement::read_ranks(self.context, board, &users).await?
            } else {
                movement::or_archived(self.context, board, found).await?
            };
            slice.previous = Some(movement::merge(&slice, read, related.known));
        }
        self.add_own_points(&mut slice);
        slice.accounts = accounts;
        Ok(slice)
    }

    /// Returns whether the board shows levels of its users.
    fn has_levels(&self) -> bool {
        let levels = &self.context.deployment.config.levels;
        !levels.is_empty() && self.request.board().kind != BoardKind::Content
    }

    /// Adds the points of all time that the board of all time itself has.
    fn add_own_points(&self, slice: &mut BoardSlice) {
        if self.has_levels() && self.request.board().name() == ALL_TIME {
            let layout = self.context.deployment.config.layout;
            let points = |user: &String| {
                let row = slice.row_of(user);
                (user.clone(), row.map_or(0, |row| layout.points(row.score)))
            };
            slice.all_time = slice.users().map(points).collect();
        }
    }

    /// Returns a board of the store, or of the archive if it is closed and the store does not have it
    /// completely, and whether it comes from the archive.
    async fn or_archived(
        &self,
        stored: StoredBoard,
        query: &BoardQuery<'_>,
    ) -> Result<(BoardSlice, bool), Error> {
        let board = self.request.board();
        let (archive, final_at) = match (&self.context.app.bindings.archive, self.closed()) {
            (Some(archive), Some(final_at)) if !stored.complete => (archive, final_at),
            (Some(_) | None, _) => return Ok((stored.slice, false)),
        };
        let config = &self.context.deployment.config;
        match archive::read(archive, config, (board, &final_at), query).await? {
            // A shard without the board may have dropped it, or never had it: the source with more
            // users is complete.
            Some((mut slice, _)) if !stored.exists || stored.slice.total < slice.total => {
                self.add_profiles(&mut slice).await?;
                Ok((slice, true))
            }
            Some(_) | None => Ok((stored.slice, false)),
        }
    }

    /// Adds the profiles, or what is known of targets, that the archive does not have.
    async fn add_profiles(&self, slice: &mut BoardSlice) -> Result<(), Error> {
        if self.request.board().kind == BoardKind::Content {
            return self.add_contents(slice).await;
        }
        let ranked = slice.rows.iter().map(|row| &row.user);
        let unranked = slice.unranked.iter().map(|(user, _)| user);
        let users: Vec<&str> = ranked.chain(unranked).map(String::as_str).collect();
        let deployment = self.context.deployment;
        let profiles = if self.has_levels() {
            let found = profiles::read_profiles_and_points(deployment, &users).await?;
            let points = found.iter().map(|(_, points)| points.unwrap_or_default());
            let users = users.iter().map(|user| (*user).to_owned());
            slice.all_time = users.zip(points).collect();
            found.into_iter().map(|(profile, _)| profile).collect()
        } else {
            profiles::read_profiles(deployment, &users).await?
        };
        let ranked = slice.rows.iter_mut().map(|row| &mut row.profile);
        let unranked = slice.unranked.iter_mut().map(|(_, profile)| profile);
        let slots: Vec<&mut Option<Profile>> = ranked.chain(unranked).collect();
        for (slot, profile) in slots.into_iter().zip(profiles) {
            *slot = profile;
        }
        Ok(())
    }

    async fn add_contents(&self, slice: &mut BoardSlice) -> Result<(), Error> {
        let unranked = match self.request.query() {
            BoardQuery::Standing { user, .. } if slice.target.is_some() => Some(user),
            _ => None,
        };
        let ids = slice.rows.iter().map(|row| row.user.as_str());
        let ids: Vec<&str> = ids.chain(unranked).collect();
        let contents = targets::read_contents(self.context.deployment, &ids).await?;
        let rows = slice.rows.iter_mut().map(|row| &mut row.content);
        for (slot, content) in rows.chain([&mut slice.target]).zip(contents) {
            *slot = Some(Box::new(content));
        }
        Ok(())
    }

    /// Returns a copy of the board that was made at `oldest` or later, without the store.
    ///
    /// # Errors
    ///
    /// As [`copies::find`].
    pub async fn copy(&self, oldest: Instant) -> Result<Option<CachedResponse>, Error> {
        let is_unknown = self.heading.borrow().is_none();
        if let Some(event) = self.request.board().event()
            && is_unknown
        {
            let Some(event) = copies::find_event(self.context, event).await? else {
                return Ok(None);
            };
            let view = event.view(self.context.request.now);
            self.heading.replace(Some(Heading::Event(view)));
        }
        let (board, closed) = (self.request.board(), self.closed());
        let query = self.request.query();
        let found = copies::find(self.context, (board, closed.as_deref()), &query, oldest).await?;
        match found {
            Some((slice, made)) => Ok(Some(self.copy_of(slice, made).await)),
            None => Ok(None),
        }
    }

    /// Returns a slice that was read before, with ranks of the period before and levels if they are known.
    pub async fn copy_of(&self, mut slice: BoardSlice, made: Instant) -> CachedResponse {
        if let Some(board) = self.request.previous_board()
            && slice.previous.is_none()
        {
            slice.previous = movement::without_store(self.context, &board, &slice).await;
        }
        self.add_own_points(&mut slice);
        if self.has_levels() && slice.all_time.is_empty() {
            slice.all_time = copies::all_time(self.context, &slice).await;
        }
        CachedResponse {
            body: self.render(&slice),
            made,
        }
    }
}
