import { receiver } from '@activity-rank/receiver'
import { github } from '@activity-rank/receiver/github'
import mapping from './mapping.json'

export default receiver(github, mapping)
