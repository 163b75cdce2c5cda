import { receiver } from '@activity-rank/receiver'
import { generic } from '@activity-rank/receiver/generic'
import mapping from './mapping.json'

export default receiver(generic, mapping)
