// Compiles only if client.d.ts and the OpenAPI document agree. scripts/check-js compiles it.

import type { components } from '../../sdk/js/src/openapi.js'
import {
  type Activity,
  type BoardStanding,
  Client,
  type Outcome,
  type PeriodName,
  type Problem,
} from '../../web/client.js'

type Schemas = components['schemas']
type Assert<Claim extends true> = Claim
type Accepts<Wide, Narrow> = [Narrow] extends [Wide] ? true : false
// Not `Accepts<…> & Accepts<…>`: `true & false` is `never`, which satisfies `Assert`.
type Same<One, Other> = [Accepts<One, Other>, Accepts<Other, One>] extends [true, true] ? true : false

// The service accepts the client's requests.
export type RequestBody = Assert<Accepts<Schemas['Activity'], Activity>>
// The client declares the service's responses, with the same fields and values. It sends no undo without `user`, whose
// outcomes name the member.
export type ResponseBody = Assert<Accepts<Omit<Outcome, 'error'>, Schemas['Outcome']>>
export type Outcomes = Assert<Same<Outcome['outcome'], Schemas['Outcome']['outcome']>>
export type Reasons = Assert<Same<Outcome['reason'], Schemas['Outcome']['reason']>>
export type Fields = Assert<Same<keyof Omit<Outcome, 'error'>, keyof Omit<Schemas['Outcome'], 'user'>>>
export type BoardStandings = Assert<Same<BoardStanding, Schemas['BoardStanding']>>
export type PeriodNames = Assert<Same<PeriodName, keyof NonNullable<Schemas['Outcome']['standings']>>>
export type Problems = Assert<Accepts<Problem, Schemas['Problem']>>
export type ProblemFields = Assert<Same<keyof Problem, keyof Schemas['Problem']>>

// The example of README.md compiles.
const rank = new Client({ user: 42, token: async () => undefined }).visits()
const result = await rank.track('like', 'post-7')
if (result.error) throw new Error(result.error.detail)
export const points: number = result.points
export const place: number | null | undefined = result.standings?.week?.rank
rank.addEventListener('result', ({ detail }) => detail.activity.target.toUpperCase())
rank.close()
// @ts-expect-error: `user` is required.
new Client({ token: '' })
// @ts-expect-error: targets are strings.
rank.undo('like', 7)
