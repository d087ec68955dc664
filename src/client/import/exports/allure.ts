/**
 * Folders of Allure results, with what their `executor.json` and `environment.properties` say of the run. Their `history` is not
 * read: it does not say what it tested. https://allurereport.org/docs/how-it-works-executor-file/
 */
import { z } from 'zod';
import { groupedBy } from '../../../domain/grouped-by.ts';
import { allure as format } from '../../../formats/allure/format.ts';
import { type Exported, type ExportTool, lastOf, momentSchema, subjectAmong, withoutNumber } from './export.ts';
import { type ExportFile, folderOf, jsonIn, nameIn } from './files.ts';

const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(null);

const executorSchema = z.object({ name: text, buildOrder: text, buildName: text, buildUrl: text });
const resultSchema = z.object({ stop: momentSchema });

const isResult = (file: ExportFile): boolean => nameIn(file).endsWith('-result.json');

export const allure: ExportTool = {
  name: 'allure',
  title: 'Allure',
  description: 'import folders of Allure results, with the builds that their executor.json names',
  async *reports(files) {
    for (const [folder, own] of groupedBy(files, folderOf)) if (own.some(isResult)) yield await reportIn(folder, own);
  },
};

async function reportIn(folder: string, files: readonly ExportFile[]): Promise<Exported> {
  const named = (name: string) => files.find((file) => nameIn(file) === name);
  const executor = executorSchema.safeParse(await jsonOf(named('executor.json'))).data;
  const parts = files.filter((file) => format.folder?.isPart(nameIn(file)));
  const moments: (number | undefined)[] = [];
  for (const file of parts.filter(isResult)) moments.push(resultSchema.safeParse(await jsonOf(file)).data?.stop);
  return {
    path: folder,
    format: 'allure',
    told: {
      pipeline: withoutNumber(executor?.buildName, executor?.buildOrder) ?? 'Allure',
      job: executor?.name || 'tests',
      runId: executor?.buildOrder || executor?.buildName || folder,
      ...subjectAmong(await pairsOf(named('environment.properties'))),
      endedAt: lastOf(moments),
      url: executor?.buildUrl || undefined,
    },
    async read() {
      const bytes: { name: string; bytes: Uint8Array }[] = [];
      for (const file of parts) bytes.push({ name: nameIn(file), bytes: await file.read() });
      return format.folder?.packed(bytes) ?? new Uint8Array();
    },
  };
}

const jsonOf = (file: ExportFile | undefined): Promise<unknown> =>
  file ? jsonIn(file).catch(() => undefined) : Promise.resolve(undefined);

/** `name = value` or `name: value` in each line; without the escapes of Java. */
async function pairsOf(file: ExportFile | undefined): Promise<[string, string][]> {
  if (!file) return [];
  const lines = new TextDecoder().decode(await file.read()).split('\n');
  return lines.flatMap((line): [string, string][] => {
    const [, name, value] = /^\s*([^#!\s=:][^=:]{0,200})[=:](.{0,1000})$/.exec(line.trimEnd()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}
