// <activity-heatmap>: this module gives the element its name, ./heatmap.js is what it does.

import { ActivityHeatmap } from './heatmap.js'

if (!customElements.get('activity-heatmap')) customElements.define('activity-heatmap', ActivityHeatmap)

export { ActivityHeatmap }
