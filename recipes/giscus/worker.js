import { receiver } from './bundle.js'
import mapping from './mapping.json'
import { github } from './source.js'

export default receiver(github, mapping)
