// The parts of OpenAPI 3.1 that the API reference renders. Browsers never load this file.

export interface Ref {
  $ref: string
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  description?: string
  [keyword: string]: unknown
}

export interface Content {
  content?: Record<string, { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
}

export interface Response extends Content {
  description: string
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
  description?: string
}

export interface Operation {
  tags: string[]
  operationId: string
  summary: string
  description?: string
  security?: Record<string, string[]>[]
  parameters?: (Parameter | Ref)[]
  requestBody?: Content
  responses: Record<string, Response | Ref>
}

export interface Document {
  info: { description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, { parameters?: (Parameter | Ref)[] } & { [method: string]: Operation }>
  components: { schemas: Record<string, Schema> }
}
