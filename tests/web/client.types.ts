// Compiles only where client.d.ts and the OpenAPI document agree. tests/web/types.test.mjs runs it.

import { Client, type Activity, type Kind, type Outcome, type Place, type Problem } from '../../web/client.js'
import type { components } from '../../target/types/openapi.js'

type Schemas = components['schemas']
type Holds<Claim extends true> = Claim
type Takes<Wide, Narrow> = [Narrow] extends [Wide] ? true : false
// Of `true & false` is made `never`, which would hold.
type Same<One, Other> = [Takes<One, Other>, Takes<Other, One>] extends [true, true] ? true : false

// The service takes what is sent.
export type Sent = Holds<Takes<Schemas['Activity'], Activity>>
// What it answers is what the client says, by name and by value.
export type Answered = Holds<Takes<Omit<Outcome, 'error'>, Schemas['Outcome']>>
export type Outcomes = Holds<Same<Outcome['outcome'], Schemas['Outcome']['outcome']>>
export type Reasons = Holds<Same<Outcome['reason'], Schemas['Outcome']['reason']>>
export type Fields = Holds<Same<keyof Omit<Outcome, 'error'>, keyof Schemas['Outcome']>>
export type Places = Holds<Same<Place, Schemas['Place']>>
export type Kinds = Holds<Same<Kind, keyof NonNullable<Schemas['Outcome']['standings']>>>
export type Refused = Holds<Takes<Problem, Schemas['Problem']>>
export type RefusedFields = Holds<Same<keyof Problem, keyof Schemas['Problem']>>

// And it is used as README.md says.
const rank = new Client({ user: 42, token: async () => (await fetch('/my-token')).text() }).visits()
const result = await rank.track('like', 'post-7')
if (result.error) throw new Error(result.error.detail)
export const points: number = result.points
export const place: number | null | undefined = result.standings?.week?.rank
rank.addEventListener('result', ({ detail }) => detail.activity.target.toUpperCase())
rank.close()
// @ts-expect-error: a member is named.
new Client({ token: '' })
// @ts-expect-error: a target is a text.
rank.undo('like', 7)
