/** Runs a tool on its project and takes its reports, without the paths and the name of this machine. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, release, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { readReport } from '../../src/client/report-body.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { run } from '../clients/support/run.ts';
import type { Installed } from './installed.ts';
import { HOME } from './lines.ts';
import type { Tool } from './tool.ts';

/** The reports, by the path of their copy. */
export async function reportsOf(tool: Tool, { folder: parent, variables }: Installed): Promise<Map<string, string>> {
  const project = realpathSync(mkdtempSync(join(parent ?? tmpdir(), 'shop-')));
  try {
    for (const [path, content] of Object.entries(tool.files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), content);
    }
    const reports = new Map<string, string>();
    let printed = { stdout: '', printed: '' };
    for (const { fixture, command, file } of tool.reports) {
      if (command) printed = await run(command, { cwd: project, env: variables });
      let report = printed.stdout;
      try {
        if (file !== undefined) report = await read(join(project, file), fixture);
      } catch (cause) {
        throw new Error(`${tool.name} wrote no ${file}: ${printed.printed.slice(-2_000)}`, { cause });
      }
      reports.set(fixture, withoutMachine(report, project, parent));
    }
    return reports;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

async function read(path: string, fixture: string): Promise<string> {
  const format = FORMATS.find(({ name }) => name === fixture.split('/')[0]);
  if (!format) throw new Error(`${fixture} has no format`);
  return Buffer.from(await readReport(format, path)).toString('utf8');
}

/** Stacks of Java are long, and all but their own lines differ between its versions. */
const FOREIGN_FRAME = /^\s*at (?:java|jdk|org)\..*\n/gm;

function withoutMachine(report: string, project: string, parent: string | undefined): string {
  const folders = [project, ...(parent === undefined ? [] : [parent])];
  const moved = folders.reduce(
    (text, folder) => text.replaceAll(folder, HOME).replaceAll(folder.slice(1), HOME.slice(1)),
    report,
  );
  return moved
    .replaceAll(basename(project), 'shop')
    .replaceAll(`"${hostname()}"`, '"build"')
    .replaceAll(`"${release()}"`, '"6.1.0"')
    .replace(/<properties>[\s\S]*?<\/properties>\s*/g, '')
    .replaceAll(FOREIGN_FRAME, '');
}
