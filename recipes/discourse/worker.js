import { receiver } from '../receiver/receiver.js'
import mapping from './mapping.json'
import { discourse } from './source.js'

export default receiver(discourse, mapping)
