import { sync } from '@activity-rank/sync'
import mapping from './mapping.json'

export default sync(mapping)
