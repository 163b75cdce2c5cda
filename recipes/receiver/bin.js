#!/usr/bin/env node
// Copies a recipe into a folder, the current one by default:
//
//   npx @activity-rank/receiver RECIPE [FOLDER]

import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// A clone has the recipes beside this package, the published package has them inside.
const packed = fileURLToPath(new URL('recipes/', import.meta.url))
const folder = existsSync(packed) ? packed : fileURLToPath(new URL('../', import.meta.url))
const recipes = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'wrangler.toml')))

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`activity-rank: ${message}`)
  process.exit(1)
}

const [recipe, target = '.', ...rest] = process.argv.slice(2)
if (!recipe || rest.length) fail(`usage: npx @activity-rank/receiver RECIPE [FOLDER]\nRecipes: ${recipes.join(', ')}`)
if (!recipes.includes(recipe)) fail(`There is no recipe ${recipe}. Recipes: ${recipes.join(', ')}`)
const files = readdirSync(join(folder, recipe)).filter((name) => !['node_modules', 'package-lock.json'].includes(name))
const existing = files.find((name) => existsSync(join(target, name)))
if (existing) fail(`${join(target, existing)} exists. Choose an empty folder.`)
mkdirSync(target, { recursive: true })
for (const name of files) cpSync(join(folder, recipe, name), join(target, name), { recursive: true })
console.log(`${target} has the recipe ${recipe}. Its README.md says how to deploy it.`)
