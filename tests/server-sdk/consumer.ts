// Compiles only if the types of the packed package are right. package.test.mjs compiles it.

import {
  ApiError,
  type Arguments,
  Client,
  MemoryOutbox,
  type Outbox,
  type Result,
  userToken,
} from '@activity-rank/server'
import { FileOutbox } from '@activity-rank/server/file-outbox'

type Assert<Claim extends true> = Claim
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false

const outbox: Outbox = await FileOutbox.open('activity.outbox', { limit: 10 })
await using rank = new Client({
  url: 'https://rank.example.com',
  key: async () => 'key',
  outbox,
  onResult: (activity, outcome) => void [activity.at.length, outcome.points.toFixed()],
  onRefused: (activity, problem) => console.log(activity.target, problem.detail?.length, problem.errors?.[0]?.pointer),
})
new Client({ url: new URL('https://rank.example.com'), outbox: new MemoryOutbox() })

await rank.track({ user: 42, action: 'like', target: 'post-7' }, { signal: AbortSignal.timeout(1) })
const one = await rank.countActivity({ body: { user: '42', action: 'like', target: 'post-7' } })
export const score: number | undefined = one.standings?.week?.score
const many = await rank.countActivity({ body: [{ user: '42', action: 'like', target: 'post-7' }] })
many.results.length.toFixed()

const board = await rank.getBoard({ period: 'week', limit: 10 })
export const name: string | undefined = board.entries[0]?.user.name
for await (const live of rank.watchBoard({ period: 'day' })) live.entries.length.toFixed()
for await (const live of rank.watchContentBoard({ period: 'day' })) live.entries[0]?.target.id.toUpperCase()
const { status, headers, body } = await rank.request('getStanding', { period: 'day', user: '42' })
export const facts: [number, string | null, number] = [status, headers.get('etag'), body.total]
export const nothing: undefined = await rank.deleteEvent({ event: 'hackathon' })
export const picture: string = await rank.getBadge({ user: '42', theme: 'dark' })
export const sent: boolean = await rank.close()
export const token: string = await userToken({ secret: 's', user: '42', audience: ['a'] })
try {
  await rank.getHealth()
} catch (error) {
  if (error instanceof ApiError) error.problem.title.toUpperCase()
}

export type Boards = Assert<Same<Result<'getBoard'>, typeof board>>
export type Period = Assert<Same<Arguments<'getBoard'>['period'], 'day' | 'week' | 'month' | 'year' | 'all'>>

// @ts-expect-error: there is no such period.
rank.getBoard({ period: 'decade' })
// @ts-expect-error: `period` is required.
rank.getBoard({ limit: 1 })
// @ts-expect-error: `period` is required.
rank.getBoard()
// @ts-expect-error: there is no such parameter.
rank.getBoard({ period: 'day', page: 1 })
// @ts-expect-error: `body` is required.
rank.putProfile({ user: '42' })
// @ts-expect-error: targets are strings.
rank.track({ user: '42', action: 'like', target: 7 })
// @ts-expect-error: `url` is required.
new Client({ key: 'key' })
// @ts-expect-error: there is no such operation.
rank.getNothing()
// @ts-expect-error: files are opened with `open`.
new FileOutbox('activity.outbox')
