// Registers <activity-card>, which is implemented in ./card.js.

import { ActivityCard } from './card.js'

if (!customElements.get('activity-card')) customElements.define('activity-card', ActivityCard)

export { ActivityCard }
