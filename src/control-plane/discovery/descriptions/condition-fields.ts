/** What is known of an object in one respect: the fields that the conditions of all kinds share. */
export const CONDITION_FIELDS = {
  lastTransitionTime: "When the condition's status last changed.",
  message: "Why, for people.",
  reason: "Why, in one CamelCase word.",
  status: "True, False or Unknown.",
};
