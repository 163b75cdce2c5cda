import { receiver } from '@activity-rank/receiver'
import { discourse } from '@activity-rank/receiver/discourse'
import mapping from './mapping.json'

export default receiver(discourse, mapping)
