// <activity-rank>: this module gives the element its name, ./rank.js is what it does.

import { ActivityRank } from './rank.js'

if (!customElements.get('activity-rank')) customElements.define('activity-rank', ActivityRank)

export { ActivityRank }
