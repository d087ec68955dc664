/** A button that copies a text, and says so. */
import { useEffect, useState } from 'react';

const SAID_MS = 2_000;

export function Copy({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Browsers have it on pages that came with TLS or from their own machine.
  if (!('clipboard' in navigator)) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <button type="button" className="button ml-auto h-7 text-xs" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      {/* Beside the button: what a status says is no part of a name. */}
      <span role="status" className="sr-only">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}
