// Registers <activity-rank>, which is implemented in ./rank.js.

import { ActivityRank } from './rank.js'

if (!customElements.get('activity-rank')) customElements.define('activity-rank', ActivityRank)

export { ActivityRank }
