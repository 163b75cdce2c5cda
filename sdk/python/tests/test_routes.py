"""Every route of the Worker, by both clients. The type of each response is checked at run time."""

import inspect
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, get_args, get_type_hints
from xml.etree import ElementTree

import httpx
import jwt
import pytest
from activity_rank import ApiError
from activity_rank.operations import Operations
from conftest import Worker
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from openbadgeslib.ob3 import OB3VerificationError, OB3Verifier
from typeguard import check_type


class Checked:
    """A client whose results are compared with the types of its methods."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        result_type = get_type_hints(getattr(Operations, name))["return"]

        def call(*args: Any, **options: Any) -> Any:
            result = getattr(self.client, name)(*args, **options)
            if inspect.isgenerator(result):
                return self._checked(result, get_args(result_type)[0])
            return check_type(result, result_type)

        return call

    def _checked(self, boards: Any, board_type: Any) -> Iterator[Any]:
        try:
            for board in boards:
                yield check_type(board, board_type)
        finally:
            boards.close()


@pytest.fixture
def api(make_client: Callable[..., Any], worker: Worker) -> Any:
    return Checked(make_client(worker.url, worker.key))


@pytest.fixture
def public(make_client: Callable[..., Any], worker: Worker) -> Any:
    return Checked(make_client(worker.url, None))


def status_of(call: Callable[[], object]) -> int:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value.status


def like(user: str, target: str, *groups: str) -> Any:
    return {"user": user, "action": "like", "target": target, "groups": list(groups)}


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def test_count_activity(api: Any, unique: str) -> None:
    result = api.count_activity(like(unique, "a"))
    assert (result["outcome"], result["points"], result["standings"]["all"]["score"]) == ("counted", 2, 2)
    assert api.count_activity(like(unique, "a"), minimal=True) == {"outcome": "duplicate", "points": 0}


def test_count_activities(api: Any, unique: str) -> None:
    results = api.count_activities([like(unique, "a"), {"user": unique, "action": "dance", "target": "a"}])["results"]
    assert results[0] == {"outcome": "counted", "points": 2}
    assert (results[1]["error"]["type"], results[1]["error"]["status"]) == ("/problems/unknown-action", 422)


def test_undo_activity(api: Any, unique: str) -> None:
    target = f"of-{unique}"
    api.count_activity(like(unique, target))
    # The undo needs the whole journal. Where other tests ran before, each page moves a part of the outbox.
    while api.get_journal(limit=1, after=4294967295)["next"] is not None:
        pass
    undone = {"user": unique, "outcome": "undone", "points": -2}
    assert api.undo_activity({"action": "like", "target": target, "undo": True}) == {"results": [undone]}


def test_boards(api: Any, public: Any, unique: str) -> None:
    likes = (("1", "a"), ("2", "a"), ("2", "b"))
    api.count_activities([like(f"{unique}-{number}", target, unique) for number, target in likes])
    board = public.get_board("week", limit=1, offset=0, date=today(), group=unique, movement=True)
    entry = {"rank": 1, "previous_rank": None, "score": 4, "user": {"id": f"{unique}-2"}}
    assert (board["total"], board["entries"]) == (2, [entry])
    standing = public.get_standing("day", f"{unique}-1", around=1, group=unique)
    assert (standing["rank"], standing["score"], standing["next"]) == (2, 2, {"rank": 1, "score": 4, "points": 3})
    assert [entry["rank"] for entry in standing["around"]] == [1, 2]
    comparison = public.compare_standings("month", ids=[f"{unique}-1", f"{unique}-2", "unknown"], group=unique)
    positions = [(entry["position"], entry["user"]["id"]) for entry in comparison["entries"]]
    assert positions == [(1, f"{unique}-2"), (2, f"{unique}-1"), (None, "unknown")]
    assert public.get_winners("year", group=unique) == {"boards": []}


def test_watch_board(api: Any, public: Any, unique: str) -> None:
    boards = public.watch_board("day", limit=3, group=unique, movement=False)
    assert next(boards)["entries"] == []
    api.count_activity(like(unique, "a", unique))
    assert next(boards)["entries"] == [{"rank": 1, "score": 2, "user": {"id": unique}}]
    boards.close()


def test_events(api: Any, public: Any, unique: str) -> None:
    start = datetime.now(UTC)
    # Other tests do not count in it, because it has a group.
    definition = {
        "title": "An event",
        "from": (start + timedelta(minutes=1)).isoformat(),
        "to": (start + timedelta(hours=1)).isoformat(),
        "groups": [unique],
        "prizes": [{"ranks": "1", "title": "A book"}],
    }
    event = api.put_event(unique, definition)
    assert (event["id"], event["state"], event["title"]) == (unique, "coming", "An event")
    assert public.get_event(unique) == event
    assert event in public.list_events()["events"]
    board = public.get_event_board(unique, limit=5, offset=0)
    assert (board["event"], board["total"]) == (event, 0)
    standing = public.get_event_standing(unique, "42", around=1)
    assert (standing["rank"], standing["score"]) == (None, 0)
    comparison = public.compare_event_standings(unique, ids=["42"])
    assert comparison["entries"] == [{"position": None, "rank": None, "score": 0, "user": {"id": "42"}}]
    boards = public.watch_event_board(unique, limit=5)
    assert next(boards)["event"] == event
    boards.close()
    assert api.delete_event(unique) is None
    assert status_of(lambda: public.get_event(unique)) == 404


def test_recount_event(api: Any, unique: str) -> None:
    start = datetime.now(UTC)
    definition = {
        "title": "A past event",
        "from": (start - timedelta(hours=2)).isoformat(),
        "to": (start + timedelta(hours=1)).isoformat(),
        "groups": [unique],
    }

    recount = api.recount_event(unique, definition)
    assert recount["event"] == {"id": unique, "state": "running", "title": "A past event"} | {
        name: recount["event"][name] for name in ("from", "to", "final_at", "groups")
    }
    assert recount["line"].split(" ")[0] == unique
    assert status_of(lambda: api.recount_event(unique, {})) == 404


def test_rules(api: Any, public: Any) -> None:
    version = api.publish_rules({"rules": {"like": {"points": 3}}, "reason": "A test"})
    assert version["state"] == "coming"
    assert {"action": "like", "field": "points", "before": 2, "after": 3} in version["changes"]
    number = version["version"]
    assert api.take_back_rules(number, reason="A test")["state"] == "removed"
    assert public.get_rules()["rules"]["like"]["points"] == 2


def test_preview_of_rules(api: Any) -> None:
    week_ago = datetime.now(UTC) - timedelta(days=7)
    answer = api.preview_rules({"rules": {"like": {"points": 3}}, "from": week_ago.isoformat()})
    assert answer["preview"] is None
    assert answer["cost"]["commands"] == 40 * answer["cost"]["entries"]
    assert api.get_rules_preview() == {"preview": None}
    assert api.cancel_rules_preview() == {"preview": None}


def test_content_and_authors(api: Any, public: Any, unique: str) -> None:
    # Characters that a path must escape.
    post, author, fan = f"{unique}/é ?#%2F", f"{unique}-author", f"{unique}-fan"
    target = {"id": post, "title": "A title", "author": author}
    assert api.put_target(post, {"title": "A title", "author": author}) == target
    assert public.get_target(post) == target
    assert api.put_targets([{"id": f"{unique}-2", "title": "B"}]) == {"results": [{"id": f"{unique}-2", "title": "B"}]}
    api.count_activity(like(fan, post))
    # Targets and authors receive after the response.
    deadline = time.monotonic() + 10
    while public.get_target_standing("week", post, around=0, date=today())["score"] != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # The service shows the targets of an author with the title, and the author beside.
    shown = {"id": post, "title": "A title"}
    standing = public.get_target_standing("week", post, around=0, date=today())
    assert (standing["target"], standing["author"], standing["score"]) == (shown, {"id": author}, 2)
    assert public.get_author_standing("week", author, around=0, date=today())["score"] == 2
    assert shown in [entry["target"] for entry in public.get_content_board("week", limit=100, offset=0)["entries"]]
    assert author in [entry["user"]["id"] for entry in public.get_authors_board("week", limit=100)["entries"]]
    assert shown in [entry["target"] for entry in public.get_hot_targets(limit=100)["entries"]]
    for boards in (public.watch_content_board("week", limit=1), public.watch_authors_board("week", limit=1)):
        assert next(boards)["period"]["kind"] == "week"
        boards.close()
    page = public.list_user_targets(author, limit=1)
    assert ([entry["target"] for entry in page["entries"]], page["next"]) == ([shown], None)
    state = api.put_target_moderation(post, {"hidden": True, "reason": "A test"})
    assert state == {"target": shown, "hidden": True} == api.get_target_moderation(post)
    assert api.delete_target(post) is None
    assert status_of(lambda: public.get_target(post)) == 404


def test_profiles(api: Any, public: Any, unique: str) -> None:
    profile = {"id": unique, "name": "Ada é", "url": "https://example.com/ada", "public_activity": True}
    fields = {"name": "Ada é", "url": "https://example.com/ada", "public_activity": True}
    assert api.put_profile(unique, fields) == profile == public.get_profile(unique)
    results = api.put_profiles([{"id": unique, "name": "Eve"}, {"id": "..", "name": "No id"}])["results"]
    assert (results[0], results[1]["error"]["status"]) == ({"id": unique, "name": "Eve"}, 400)
    assert api.erase_user(unique) is None
    assert status_of(lambda: public.get_profile(unique)) == 404


def test_activity_of_a_user(api: Any, unique: str) -> None:
    follow = {"user": unique, "action": "follow", "target": f"{unique}-friend"}
    api.count_activities([like(unique, "a", unique), follow])
    history = api.get_history(unique, days=1)
    actions = {"like": {"count": 1, "points": 2}, "follow": {"count": 1, "points": 2}}
    assert history["days"] == [{"date": today(), "points": 4, "actions": actions}]
    assert history["streak"] == {"current": 1, "longest": 1, "weeks": {"current": 1, "longest": 1}}
    standings = api.list_standings(unique, groups=[unique], friends=True, movement=True)["standings"]
    assert (standings["day"]["score"], standings["day"]["friends"]) == (4, {"position": 1, "total": 1})
    assert standings["week"]["groups"][unique]["score"] == 2
    friends = api.compare_standings("day", followed_by=unique)["entries"]
    assert [entry["user"]["id"] for entry in friends] == [unique, f"{unique}-friend"]
    done = api.list_done(unique, action="like", targets=["a", "a,b%"])["targets"]
    assert done == [{"target": "a", "done": True}, {"target": "a,b%", "done": False}]
    first = api.list_points(unique, limit=1)
    second = api.list_points(unique, limit=1, before=first["next"])
    assert [entry["action"] for entry in (*first["entries"], *second["entries"])] == ["follow", "like"]


def test_cards(api: Any, public: Any, unique: str) -> None:
    api.count_activity(like(unique, "a"))
    card = public.get_card(unique)
    assert (card["user"], card["standings"]["all"]["score"], card["streak"]) == ({"id": unique}, 2, None)
    pictures = public.get_card_picture(unique, theme="dark", lang="zh-Hans"), public.get_badge(unique, theme="light")
    for picture in (*pictures, public.get_share_picture(unique)):
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"


def test_moderation(api: Any, unique: str) -> None:
    api.count_activity(like(unique, "a"))
    state = api.put_moderation(unique, {"hidden": False, "frozen": True, "reason": "A test"})
    assert state == {"user": {"id": unique}, "hidden": False, "frozen": True} == api.get_moderation(unique)
    api.put_moderation(unique, {"hidden": False, "frozen": False, "reason": "A test"})
    adjusted = api.adjust_points(unique, {"id": unique, "points": 5, "reason": "A test"})
    assert (adjusted["outcome"], adjusted["points"]) == ("counted", 5)
    undone = api.adjust_points(unique, {"id": unique, "undo": True, "reason": "A test"})
    assert (undone["outcome"], undone["points"]) == ("undone", -5)
    first = api.get_audit(limit=1)
    second = api.get_audit(limit=1, before=first["next"])
    assert [entry["action"] for entry in (*first["entries"], *second["entries"])] == ["undo-adjust", "adjust"]


def test_token_is_for_user_tokens(api: Any) -> None:
    assert status_of(api.get_token) == 403


def test_deployment_has_no_visitors(api: Any) -> None:
    assert status_of(lambda: api.create_visitor({})) == 404
    assert status_of(lambda: api.list_counts(targets=["posts/7"])) == 404


def test_accounts(api: Any, unique: str) -> None:
    account = unique + "-a"
    joined = api.put_account(account, {"of": unique})
    expected = {"user": {"id": account}, "account_of": unique, "accounts": [], "past": "pending"}
    assert joined == expected == api.get_account(account)
    api.count_activity(like(account, "a"))
    assert api.get_standing("all", account)["account_of"] == unique
    api.delete_account(account)
    assert api.get_account(account)["account_of"] is None


def test_pauses(api: Any, unique: str) -> None:
    day = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    pauses = {"user": {"id": unique}, "pauses": [{"from": day, "until": day}]}
    assert api.put_pause(unique, {"from": day, "until": day}) == pauses == api.list_pauses(unique)
    api.delete_pauses(unique, from_=day)
    assert api.list_pauses(unique)["pauses"] == []


def test_journal(api: Any, unique: str) -> None:
    api.count_activity(like(unique, "a"))
    pages = [api.get_journal(after=0, limit=5000, shard=0)]
    while pages[-1]["next"] is not None:
        pages.append(api.get_journal(after=pages[-1]["next"], limit=5000))
    own = [entry for page in pages for entry in page["entries"] if entry.get("user") == unique]
    assert [(entry["did"], entry["action"], entry["points"]) for entry in own] == [("count", "like", "2")]


def test_webhooks(api: Any) -> None:
    assert api.list_deliveries(state="pending", limit=10) == {"deliveries": [], "next": None}
    assert status_of(lambda: api.retry_delivery("msg_" + "0" * 32)) == 404


def test_cases(api: Any, unique: str) -> None:
    opened = api.open_case({"members": [unique, unique + "-a"], "reason": "A test"})
    assert (opened["kind"], opened["state"]) == ("manual", "open")
    assert api.get_case(opened["id"])["members"] == opened["members"]
    assert api.search_cases()["complete"]
    assert api.list_cases(state="dismissed")["cases"] == []
    unknown = "case_" + "0" * 16
    assert status_of(lambda: api.get_case(unknown)) == 404
    assert status_of(lambda: api.put_case(unknown, {"state": "dismissed", "reason": "A team"})) == 404


def test_syncs(api: Any, unique: str) -> None:
    # Characters that a path must escape.
    source = f"{unique}/a:1"
    result = api.put_sync(source, {"state": "done", "differences": 3, "refused": {"own-target": 41}})
    assert (result["differences"], result["mended"], result["refused"]) == (3, 0, {"own-target": 41})
    failed = api.put_sync(source, {"state": "failed", "detail": "no response"})
    assert (failed["state"], failed["completed_at"]) == ("failed", result["completed_at"])
    assert failed in api.list_syncs()["syncs"]
    assert api.delete_sync(source) is None
    assert failed not in api.list_syncs()["syncs"]


def test_service(api: Any, public: Any) -> None:
    stats = api.get_stats(from_=today(), to=today())
    assert [day["date"] for day in stats["days"]] == [today()]
    assert api.get_status()["store"]["circuit"] == "closed"
    assert "activity_rank_store_up 1\n" in api.get_metrics()
    health = public.get_health()
    assert (health["status"], health["configured"]["content_periods"]) == ("ok", ["day", "week", "all"])
    assert public.get_open_api()["openapi"].startswith("3.1")
    week = datetime.now(UTC).strftime("%G-W%V")
    assert public.get_digest(week)["period"]["id"] == week
    assert ElementTree.fromstring(public.get_atom_feed()).tag == "{http://www.w3.org/2005/Atom}feed"
    assert public.get_json_feed()["version"] == "https://jsonfeed.org/version/1.1"


def test_pages(public: Any, unique: str) -> None:
    pages = [
        public.get_page(),
        public.get_member_page(unique),
        public.get_recap_page(unique, "2026"),
        public.get_status_page(),
        public.get_playground(),
        public.get_admin_page(),
        public.get_gallery(),
        public.get_docs(),
    ]
    assert [page.lstrip()[:15].lower() for page in pages] == ["<!doctype html>"] * 8
    assert public.get_manifest()["display"] == "minimal-ui"


def test_error_names_each_wrong_field(api: Any) -> None:
    with pytest.raises(ApiError) as caught:
        api.count_activity({"user": "42", "action": "like", "taget": "p", "at": "now"})
    fields = "; ".join(f"{item['pointer'][1:]}: {item['detail']}" for item in caught.value.errors)
    assert len(caught.value.errors) > 1
    assert str(caught.value) == f"400 The request is invalid: {fields}"


def test_problem_has_its_fields(api: Any) -> None:
    with pytest.raises(ApiError) as caught:
        api.get_board("day", limit=1000)
    error = caught.value
    assert (error.status, error.type) == (400, "/problems/invalid-request")
    assert [item["pointer"] for item in error.errors] == ["/limit"]
    assert error.request_id
    assert "400" in str(error)


def test_achievements(api: Any, public: Any, worker: Worker, unique: str) -> None:
    for target in ("a", "b"):
        api.count_activity(like(unique, target))
    # Activity of other tests comes first, a part of it in each run.
    for _ in range(50):
        httpx.get(f"{worker.url}/cdn-cgi/local/scheduled", params={"cron": "* * * * *"}, timeout=60).raise_for_status()
        (achievement,) = public.get_achievements(unique)["achievements"]
        if achievement["value"] == 2:
            break
    assert (achievement["name"], achievement["value"], achievement["next"]) == ("Liker", 2, 10)
    (achievement,) = public.list_achievements(lang="de")["achievements"]
    assert achievement["name"] == "Liker:in"

    token = public.get_credential(unique, "liker", lang="de")
    address = jwt.get_unverified_header(token)["kid"]
    key = public.get_issuer_key(address.rsplit("/", 1)[1])
    assert key == httpx.get(address).json()
    assert public.get_issuer_keys() == {"keys": [key]}
    pem = jwt.PyJWK(key).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    credential = OB3Verifier(pem).verify(token)
    assert credential.recipient_id == f"{worker.url}/u/{unique}"
    claims = jwt.decode(token, pem, algorithms=["RS256"])
    issuer = public.get_issuer()
    assert claims["issuer"] == {name: issuer[name] for name in issuer if name != "@context"}
    assert claims["name"] == "Liker:in 2"
    assert public.get_credential(unique, "liker", step="2", lang="de") == token
    first = jwt.decode(public.get_credential(unique, "liker", step="1"), pem, algorithms=["RS256"])
    assert first["name"] == "Liker 1"
    assert status_of(lambda: public.get_credential(unique, "liker", step="10")) == 404
    awarded = api.award_achievement(unique, "liker", {"step": 10, "reason": "A test"})["achievements"]
    assert [step["value"] for step in awarded[0]["steps"] if "at" in step] == [1, 2, 10]
    api.withdraw_achievement(unique, "liker", step=10.0, reason="A test")
    assert status_of(lambda: public.get_credential(unique, "liker", step="10")) == 404
    with pytest.raises(OB3VerificationError):
        OB3Verifier(pem).verify(token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB"))


def test_missing_key_is_refused(public: Any) -> None:
    assert status_of(lambda: public.get_audit()) == 401
    assert status_of(lambda: public.count_activity(like("42", "a"))) == 401


def test_watch_ends_with_an_error(public: Any) -> None:
    assert status_of(lambda: list(islice(public.watch_board("decade"), 1))) == 400
