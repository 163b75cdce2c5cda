import { receiver } from '../receiver/receiver.js'
import mapping from './mapping.json'
import { ghost } from './source.js'

export default receiver(ghost, mapping)
