import { receiver } from './bundle.js'
import mapping from './mapping.json'
import { ghost } from './source.js'

export default receiver(ghost, mapping)
