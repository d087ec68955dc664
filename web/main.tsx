/** Starts the application in the page that `src/web/page.ts` made. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient, router } from './router.tsx';
import { applyScheme } from './ui/scheme.ts';

// Before anything is shown.
applyScheme();
const place = document.getElementById('app');
if (!place) throw new Error('the page has no place for the application');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
