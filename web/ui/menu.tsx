/** A button that opens a menu of choices and actions. The menu itself is loaded when a pointer or the focus comes near. */
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import type { MenuGroup } from './menu-groups.ts';

interface MenuButtonProps {
  /** Its name, if the contents do not say it. */
  label?: string;
  /** Title of the menu. */
  title: string;
  groups: readonly MenuGroup[];
  className?: string;
  /** A pointer or the focus comes near: for what the menu shows and is asked for. */
  onNear?: () => void;
  children: ReactNode;
}

const loadMenu = () => import('./open-menu.tsx');
const OpenMenu = lazy(loadMenu);

export function MenuButton({ label, title, groups, className = 'button', onNear, children }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const near = () => {
    void loadMenu();
    onNear?.();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        className={className}
        onPointerEnter={near}
        onFocus={near}
        onClick={() => setOpen(true)}
      >
        {children}
      </button>
      {isOpen && (
        <Suspense>
          <OpenMenu trigger={button} title={title} groups={groups} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
