import { isApiError } from "../../api/api-error.ts";
import type { LabelSelector as SelectorField } from "../../api/gen/types.ts";
import { type LabelSelector, labelSelectorOf } from "../../api/selectors/label-selector.ts";

/**
 * The selector of an object that is stored already. A selector that validation would have refused selects nothing: the
 * object is there, and must not end the controller that reads it.
 */
export function lenientSelectorOf(selector: SelectorField | undefined): LabelSelector {
  try {
    return labelSelectorOf(selector);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return labelSelectorOf(undefined);
  }
}
