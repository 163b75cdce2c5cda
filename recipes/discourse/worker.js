import { receiver } from './bundle.js'
import mapping from './mapping.json'
import { discourse } from './source.js'

export default receiver(discourse, mapping)
