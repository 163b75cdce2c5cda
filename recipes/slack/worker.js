import { chatWorker } from '@activity-rank/receiver'
import { slack } from '@activity-rank/receiver/slack'
import mapping from './mapping.json'

export default chatWorker(slack, mapping)
