import { receiver } from '../receiver/receiver.js'
import mapping from './mapping.json'
import { github } from './source.js'

export default receiver(github, mapping)
