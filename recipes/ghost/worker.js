import { receiver } from '@activity-rank/receiver'
import { ghost } from '@activity-rank/receiver/ghost'
import mapping from './mapping.json'

export default receiver(ghost, mapping)
