/**
 * What `make dev` and `make cluster` run: a Redis with a folder and default ports of its own for each.
 * @type {Record<string, { isCluster: boolean, folder: string, redisPort: number }>}
 */
export const TARGETS = {
  dev: { isCluster: false, folder: '.dev/single', redisPort: 6390 },
  cluster: { isCluster: true, folder: '.dev/cluster', redisPort: 6391 },
}
