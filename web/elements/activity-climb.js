// Registers <activity-climb>, which is implemented in ./climb.js.

import { ActivityClimb } from './climb.js'

if (!customElements.get('activity-climb')) customElements.define('activity-climb', ActivityClimb)

export { ActivityClimb }
