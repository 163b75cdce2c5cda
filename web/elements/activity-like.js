// Registers <activity-like>, which is implemented in ./like.js.

import { ActivityLike } from './like.js'

if (!customElements.get('activity-like')) customElements.define('activity-like', ActivityLike)

export { ActivityLike }
