import { defineConfig } from "vitest/config";

// Only so that this folder's tests run by themselves; a project of its own needs no configuration.
export default defineConfig({ test: { root: import.meta.dirname } });
