import { casts } from "./rules/casts.ts";
import { composition } from "./rules/composition.ts";
import { cycles } from "./rules/cycles.ts";
import { noDefaultExport, noEnum, noInheritance } from "./rules/declarations.ts";
import { dependencies } from "./rules/dependencies.ts";
import { docComments } from "./rules/doc-comments.ts";
import { fileLength } from "./rules/file-length.ts";
import { foreignPaths, links } from "./rules/foreign-paths.ts";
import { noFragments } from "./rules/fragments.ts";
import { functionLength } from "./rules/function-length.ts";
import { everyTestRuns, noLooseEnds } from "./rules/left-behind.ts";
import { declaredNames, fileNames } from "./rules/names.ts";
import { oneName } from "./rules/one-name.ts";
import { outsideWorld } from "./rules/outside-world.ts";
import { parameters } from "./rules/parameters.ts";
import { programs } from "./rules/programs.ts";
import { ranks } from "./rules/ranks.ts";
import { noAny, noNonNull, noSilencing } from "./rules/type-holes.ts";
import { unusedExports } from "./rules/unused-exports.ts";
import type { Rule } from "./source.ts";

/** Every rule of the style that a machine can check, in the order in which a violation matters. */
export const RULES: readonly Rule[] = [
  ranks,
  cycles,
  composition,
  outsideWorld,
  programs,
  noAny,
  noNonNull,
  noSilencing,
  casts,
  noDefaultExport,
  noEnum,
  noInheritance,
  unusedExports,
  oneName,
  docComments,
  fileLength,
  functionLength,
  parameters,
  fileNames,
  declaredNames,
  noFragments,
  noLooseEnds,
  everyTestRuns,
  foreignPaths,
  links,
  dependencies,
];
