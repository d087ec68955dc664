/** Where toasts appear (toast.ts). They stay while they have the focus or the pointer; F6 leads to them. */
import { useMutation } from '@tanstack/react-query';
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { type Notice, onTold } from './toast.ts';

const SHOWN_MAX = 3;
/** Time to read it and to undo it. */
const STAYS_MS = 20_000;

const queue = new ToastQueue<Notice>({ maxVisibleToasts: SHOWN_MAX });
onTold((notice) => queue.add(notice, { timeout: STAYS_MS }));

export default function Toasts() {
  return (
    <ToastRegion
      queue={queue}
      aria-label="Done"
      className="fixed right-4 bottom-4 z-40 flex w-[min(26rem,calc(100vw-2rem))] flex-col gap-2 outline-none"
    >
      {({ toast }) => (
        <Toast toast={toast} className="card px-4 py-3 shadow-xl">
          <ToastContent>
            <Told notice={toast.content} onDone={() => queue.close(toast.key)} />
          </ToastContent>
        </Toast>
      )}
    </ToastRegion>
  );
}

function Told({ notice: { text, problems = [], undo }, onDone }: { notice: Notice; onDone: () => void }) {
  const undoing = useMutation({ mutationFn: async () => undo?.(), onSuccess: onDone });
  return (
    <>
      <div className="flex items-center gap-2">
        <Text slot="title" className="min-w-0 flex-1 break-words">
          {text}
        </Text>
        {undo && (
          <button
            type="button"
            className="button h-7"
            // Disabled it would lose the focus, which the region gives back once the toast has gone.
            aria-disabled={undoing.isPending}
            onClick={() => {
              if (!undoing.isPending) undoing.mutate();
            }}
          >
            {undoing.isPending ? 'Undoing …' : 'Undo'}
          </button>
        )}
        <button type="button" className="button h-7 border-transparent px-2" aria-label="Dismiss" onClick={onDone}>
          ✕
        </button>
      </div>
      {problems.length > 0 && (
        <ul className="mt-2 flex flex-col gap-1.5 text-broken">
          {problems.map((problem) => (
            <li key={problem} className="break-words">
              {problem}
            </li>
          ))}
        </ul>
      )}
      {undoing.error && <p className="mt-2 break-words whitespace-pre-line text-broken">{undoing.error.message}</p>}
    </>
  );
}
