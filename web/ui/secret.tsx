/** A token that is shown only once. */
export const Secret = ({ token }: { token: string }) => (
  <p role="status" className="flex min-w-0 basis-full flex-wrap items-center gap-3 rounded-md bg-raised px-3 py-2">
    <span>Copy it now, it is shown only this once:</span>
    <code className="min-w-0 font-mono text-xs break-all">{token}</code>
    <button type="button" className="button h-7 text-xs" onClick={() => void navigator.clipboard?.writeText(token)}>
      Copy
    </button>
  </p>
);
