// Registers <activity-heatmap>, which is implemented in ./heatmap.js.

import { ActivityHeatmap } from './heatmap.js'

if (!customElements.get('activity-heatmap')) customElements.define('activity-heatmap', ActivityHeatmap)

export { ActivityHeatmap }
