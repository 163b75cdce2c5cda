/**
 * Returns what `dev` prints when everything runs: addresses, and requests to try.
 * @param {{ command: string, commandLine: string, folder: string, isEmpty: boolean }} setup
 * @param {{ url: string, gatewayUrl: string }} addresses of the service and of the store
 * @param {Record<string, string>} secrets
 */
export function introduction({ command, commandLine, folder, isEmpty }, { url, gatewayUrl }, secrets) {
  const { SERVICE_KEYS, JWT_SECRET, UPSTASH_REDIS_REST_TOKEN } = secrets
  const source = `
  The boards show activity from Quantum Computing Stack Exchange, by its contributors, CC BY-SA 3.0. Names and titles are
  invented.`
  return `
  activity-rank runs at ${url}

  Try it in another terminal:

    curl "${url}/v1/ranking/month?limit=3"

    curl -X POST ${url}/v1/activity \\
      -H 'Authorization: Bearer ${SERVICE_KEYS}' -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-7"}'

    curl "${url}/v1/ranking/all/users/42?around=2"

  Posts by the points they received, and their authors:

    curl "${url}/v1/content/month?limit=3"

    curl "${url}/v1/authors/month?limit=3"

  As a user, with a token that is valid for an hour:

    TOKEN=$(JWT_SECRET=${JWT_SECRET} ${commandLine} token 42 --name Ada)

    curl -X POST ${url}/v1/activity \\
      -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-8"}'

    curl -H "Authorization: Bearer $TOKEN" "${url}/v1/users/42/activity?days=1"

  Boards on the command line:

    ${commandLine} top week --url ${url}

  The store, for export, verify and rebuild:

    export UPSTASH_REDIS_REST_URL=${gatewayUrl} UPSTASH_REDIS_REST_TOKEN=${UPSTASH_REDIS_REST_TOKEN}

    ACTIVITY_RANK_KEY=${SERVICE_KEYS} ${commandLine} verify --url ${url}
${isEmpty ? '' : source}
  Data and logs are in ${folder}/; delete it and run ${command} again to start over. Press Ctrl-C to stop.
`
}
