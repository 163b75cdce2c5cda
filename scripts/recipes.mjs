#!/usr/bin/env node
// Makes the files that receivers of webhooks share, so that the folder of each can be copied alone: bundle.js of
// recipes/receiver and the client, and the source of giscus, which is that of GitHub. Run it after a change to these.
//
//   scripts/recipes.mjs [FOLDER]      recipes/ by default

import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const RECIPES = ['discourse', 'generic', 'ghost', 'giscus', 'github']

const [folder = join(ROOT, 'recipes')] = process.argv.slice(2)
for (const recipe of RECIPES) {
  mkdirSync(join(folder, recipe), { recursive: true })
  await build({
    stdin: {
      contents: "export { receiver } from './receiver.js'\nexport * from './signature.js'\n",
      resolveDir: join(ROOT, 'recipes/receiver'),
    },
    absWorkingDir: ROOT,
    outfile: join(folder, recipe, 'bundle.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    charset: 'utf8',
    banner: { js: '// @ts-nocheck\n// Made by scripts/recipes.mjs from recipes/receiver and sdk/js: change these.' },
  })
}
cpSync(join(ROOT, 'recipes/github/source.js'), join(folder, 'giscus/source.js'))
