// A site of files, for any host. Remove `output` to run a server.
export default { output: 'export' }
