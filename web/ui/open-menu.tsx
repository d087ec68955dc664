/** The open menu of a button (menu.tsx). */
import type { RefObject } from 'react';
import { Header, Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import type { MenuGroup } from './menu-groups.ts';

interface OpenMenuProps {
  trigger: RefObject<HTMLButtonElement | null>;
  title: string;
  groups: readonly MenuGroup[];
  onClose: () => void;
}

export default function OpenMenu({ trigger, title, groups, onClose }: OpenMenuProps) {
  return (
    <Popover
      isOpen
      trigger="MenuTrigger"
      aria-label={title}
      triggerRef={trigger}
      placement="bottom end"
      className="card max-h-[60vh] max-w-[min(22rem,calc(100vw-1rem))] min-w-44 overflow-y-auto py-1 shadow-xl"
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Menu aria-label={title} autoFocus="first" className="outline-none" onClose={onClose}>
        {groups.map((group) => (
          <Group key={group.title} group={group} onClose={onClose} />
        ))}
      </Menu>
    </Popover>
  );
}

function Group({
  group: { title, items, chosen, isMultiple = false, onChoose },
  onClose,
}: {
  group: MenuGroup;
  onClose: () => void;
}) {
  const act = (id: string) => {
    if (chosen === undefined) onChoose(id, []);
    if (!isMultiple) onClose();
  };
  return (
    <MenuSection
      className="border-line not-first:mt-1 not-first:border-t not-first:pt-1"
      selectionMode={chosen === undefined ? 'none' : isMultiple ? 'multiple' : 'single'}
      disallowEmptySelection={!isMultiple}
      selectedKeys={chosen ?? []}
      onSelectionChange={(keys) => {
        const now = keys === 'all' ? items.map(({ id }) => id) : [...keys].map(String);
        const pressed = items.find(({ id }) => now.includes(id) !== (isMultiple && chosen?.includes(id) === true));
        if (pressed) onChoose(pressed.id, now);
      }}
    >
      <Header className="px-3 py-1 text-xs text-soft">{title}</Header>
      {items.map(({ id, label, hint, isDisabled = false }) => (
        <MenuItem
          key={id}
          id={id}
          textValue={label}
          isDisabled={isDisabled}
          shouldCloseOnSelect={!isMultiple}
          className="grid cursor-pointer grid-cols-[1rem_minmax(0,1fr)] gap-x-1.5 px-3 py-1.5 outline-none data-disabled:cursor-default data-disabled:text-soft data-focused:bg-raised"
          onAction={() => act(id)}
        >
          {({ isSelected }) => (
            <>
              <span aria-hidden="true">{isSelected ? '✓' : ''}</span>
              <span className="break-words">
                {label}
                {hint !== undefined && <span className="block text-xs text-soft">{hint}</span>}
              </span>
            </>
          )}
        </MenuItem>
      ))}
    </MenuSection>
  );
}
