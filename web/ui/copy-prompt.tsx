/** A button that copies what a page says as a prompt for a coding agent. It is asked for with the click. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { promptQuery } from '../api/queries.ts';

const SAID_MS = 4_000;

interface CopyPromptProps {
  query: ReturnType<typeof promptQuery>;
  /** What it is about, for those who do not see where the button is. */
  about: string;
  /** In a row. */
  isSmall?: boolean;
}

export function CopyPrompt({ query, about, isSmall = false }: CopyPromptProps) {
  const client = useQueryClient();
  const [said, setSaid] = useState<string>();
  /** To be copied by hand, where the browser copies nothing. */
  const [shown, setShown] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      const { text, tokens } = await client.fetchQuery(query);
      // Browsers have it on pages that came with TLS or from their own machine.
      if (!('clipboard' in navigator)) return setShown(text);
      await navigator.clipboard.writeText(text).catch(() => setShown(text));
      setSaid(`Copied, ${tokens} tokens`);
    } catch (error) {
      setSaid(error instanceof Error ? error.message : 'It could not be read');
    }
  };
  return (
    <>
      <button
        type="button"
        className={`button ${isSmall ? 'h-6 px-2 text-xs' : 'h-7 text-xs'}`}
        onClick={() => void copy()}
      >
        {said ?? 'Copy as prompt'}
        <span className="sr-only"> {about}</span>
      </button>
      {/* Beside the button: what a status says is no part of a name. */}
      <span role="status" className="sr-only">
        {said}
      </span>
      {shown !== undefined && (
        <textarea
          readOnly
          aria-label={`Prompt about ${about}`}
          className="field h-40 w-full basis-full p-2 font-mono text-xs"
          value={shown}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      )}
    </>
  );
}
