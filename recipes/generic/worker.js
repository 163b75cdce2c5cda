import { receiver } from './bundle.js'
import mapping from './mapping.json'
import { generic } from './source.js'

export default receiver(generic, mapping)
