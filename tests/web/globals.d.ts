// Globals of the pages that the tests open.

import type { Client } from '../../web/client.js'
import type { ActivityHeatmap } from '../../web/elements/heatmap.js'
import type { ActivityRank } from '../../web/elements/rank.js'

declare global {
  var rank: Client
  var token: string
  var pending: Promise<unknown>
  var events: unknown[]
  var animated: boolean
  var delays: number[]

  interface HTMLElementTagNameMap {
    'activity-rank': ActivityRank
    'activity-heatmap': ActivityHeatmap
  }
}
