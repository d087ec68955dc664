/**
 * `bun run dev [address]`: pages of the working tree in front of a running service, such as that of `npm run demo`. When a
 * file of `web` is saved, they are bundled again, and the pages that are open reload. What a page shows is in its address, so
 * a reload shows the same. The service itself knows nothing of this.
 */
import { watch } from 'node:fs';
import { resolve } from 'node:path';
import { pageHeaders } from '../src/http/security-headers.ts';
import { readWebFiles } from '../src/web/files.ts';
import { PAGE_SOURCES, pageOf } from '../src/web/page.ts';

const WEB = resolve(import.meta.dir, '../web');
const PORT = 3001;
/** An editor saves a file in several steps. */
const SETTLES_MS = 50;
const RELOAD = `new EventSource('/dev/changes').onmessage = () => location.reload();`;

if (import.meta.main) {
  const service = process.argv[2] ?? 'http://127.0.0.1:3000';
  await bundle();
  const { url } = startDev({ service, watched: WEB, build: bundle, port: PORT });
  console.log(`Pages of ${WEB} at ${url.origin}/app, data of ${service}. They reload when a file is saved.`);
}

/** In a process of its own, so that a fault ends nothing. Returns whether there are new pages. */
async function bundle(): Promise<boolean> {
  const child = Bun.spawn([process.execPath, resolve(WEB, 'build.ts')], { stdout: 'inherit', stderr: 'inherit' });
  return (await child.exited) === 0;
}

interface Dev {
  /** The address of the service. */
  service: string;
  /** A folder. What begins with `dist` in it is made, and not watched. */
  watched: string;
  build: () => Promise<boolean>;
  /** Absent: where `web/build.ts` puts them. */
  files?: string;
  /** Absent: any free one. */
  port?: number;
}

export function startDev({ service, watched, build, files: folder, port = 0 }: Dev) {
  let files = readWebFiles(folder);
  const pages = new Set<ReadableStreamDefaultController<string>>();
  let building = Promise.resolve();
  let timer: Timer | undefined;
  const rebuild = async (): Promise<void> => {
    if (!(await build())) return;
    files = readWebFiles(folder);
    for (const page of pages) page.enqueue('data: changed\n\n');
  };
  const watcher = watch(watched, { recursive: true }, (_, name) => {
    if (name?.startsWith('dist')) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(rebuild);
    }, SETTLES_MS);
  });

  const changes = (): Response => {
    let own: ReadableStreamDefaultController<string> | undefined;
    const stream = new ReadableStream<string>({
      start: (page) => {
        own = page;
        pages.add(page);
        page.enqueue(': open\n\n');
      },
      cancel: () => void (own && pages.delete(own)),
    });
    return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
  };
  const page = (): Response => {
    const html = pageOf('', files?.manifest).replace('</head>', '<script src="/dev/reload.js"></script>\n</head>');
    return new Response(html, {
      headers: { ...pageHeaders(PAGE_SOURCES), 'content-type': 'text/html; charset=utf-8' },
    });
  };
  const forward = (request: Request, { pathname, search }: URL): Promise<Response> =>
    fetch(new Request(`${service}${pathname}${search}`, request), { redirect: 'manual', decompress: false });

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    // A page waits for the next change, however long that takes.
    idleTimeout: 0,
    fetch: (request) => {
      const url = new URL(request.url);
      if (url.pathname === '/app' || url.pathname.startsWith('/app/')) return page();
      if (url.pathname === '/dev/changes') return changes();
      if (url.pathname === '/dev/reload.js')
        return new Response(RELOAD, { headers: { 'content-type': 'text/javascript; charset=utf-8' } });
      const asset = url.pathname.startsWith('/assets/') && files?.answer(url.pathname.slice('/assets/'.length), '');
      return asset || forward(request, url);
    },
  });
  return {
    url: server.url,
    stop: async (): Promise<void> => {
      watcher.close();
      clearTimeout(timer);
      await building;
      await server.stop(true);
    },
  };
}
