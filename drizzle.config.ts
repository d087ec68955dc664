import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/postgres/schema.ts',
  out: './sql/postgres',
  casing: 'snake_case',
  schemaFilter: ['ci_insights'],
});
