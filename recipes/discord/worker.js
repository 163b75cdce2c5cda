import { chatWorker } from '@activity-rank/receiver'
import { discord } from '@activity-rank/receiver/discord'
import mapping from './mapping.json'

export default chatWorker(discord, mapping)
