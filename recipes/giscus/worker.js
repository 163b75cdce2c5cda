import { github } from '../github/source.js'
import { receiver } from '../receiver/receiver.js'
import mapping from './mapping.json'

export default receiver(github, mapping)
