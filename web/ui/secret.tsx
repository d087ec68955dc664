/** A token that is shown only once. */
import { Copy } from './copy.tsx';

export const Secret = ({ token }: { token: string }) => (
  <p role="status" className="flex min-w-0 basis-full flex-wrap items-center gap-3 rounded-md bg-raised px-3 py-2">
    <span>Copy it now, it is shown only this once:</span>
    <code className="min-w-0 font-mono text-xs break-all">{token}</code>
    <Copy text={token} />
  </p>
);
