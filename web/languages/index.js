// Made by `make build` from the files of this folder.

export const LANGUAGES = ['en', 'zh-Hans']
