import tseslint from "typescript-eslint";
import { noVoidPromise } from "./test/tidy/lint-rules.mjs";

/** Only what Biome cannot know without types: promises, casts and exhaustiveness. */
export default tseslint.config(
  { ignores: ["dist/**", "coverage/**"] },
  {
    files: ["src/**/*.{ts,tsx}", "test/**/*.ts", "bench/**/*.ts", "scripts/**/*.ts", "examples/**/*.ts"],
    ignores: ["**/gen/**"],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"],
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/prefer-promise-reject-errors": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unnecessary-type-assertion": "error",
      "@typescript-eslint/no-unnecessary-condition": "off",
    },
  },
  {
    // A promise of the product that nobody catches would end the process; that of a test fails the test.
    files: ["src/**/*.{ts,tsx}"],
    ignores: ["**/gen/**", "**/*.test.ts", "**/__fixtures__/**"],
    plugins: { nodelet: { rules: { "no-void-promise": noVoidPromise } } },
    rules: {
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false }],
      "nodelet/no-void-promise": "error",
    },
  },
);
