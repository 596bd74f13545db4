/* Callbacks at aclInit and aclFinalize: one per type, in order, able to stop what they are told of. */
#include <stdbool.h>
#include <string.h>

#include "check.h"

static char order[32];
static aclError init_answer, finalize_answer;

static void note(const char *letter) { strncat(order, letter, sizeof(order) - strlen(order) - 1); }

static aclError init_a(const char *config, size_t length, void *user_data) {
    CHECK(config != NULL && length == strlen(config) && user_data == order);
    note("a");
    return init_answer;
}

static aclError init_b(const char *config, size_t length, void *user_data) {
    (void)config, (void)length, (void)user_data;
    note("b");
    return 0;
}

static aclError finalize_c(void *user_data) {
    CHECK(user_data == order);
    note("c");
    return finalize_answer;
}

static aclError finalize_d(void *user_data) {
    (void)user_data;
    note("d");
    return 0;
}

static bool happened(const char *expected) {
    bool same = strcmp(order, expected) == 0;
    order[0] = '\0';
    return same;
}

static void arguments(void) {
    EXPECT(100000, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL));
    EXPECT(100000, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL));
    EXPECT(100000, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL));
    EXPECT(100000, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL));
    EXPECT(500000, aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, init_a));
    EXPECT(500000, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, finalize_c));
}

static void registering(void) {
    EXPECT(0, aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, init_a, order));
    EXPECT(500000, aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, init_b, order)); /* one per type */
    EXPECT(0, aclInitCallbackRegister(ACL_REG_TYPE_OTHER, init_b, NULL));
    EXPECT(500000, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, init_b));
    EXPECT(0, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, finalize_c, order));
    EXPECT(0, aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, finalize_d, NULL)); /* OTHER: many */
    CHECK(happened(""));
}

static void they_are_called_in_order(void) {
    uint64_t count = 9;
    EXPECT(0, aclInit(NULL));
    CHECK(happened("ab"));
    EXPECT(100002, aclInit(NULL));
    CHECK(happened(""));
    EXPECT(0, aclFinalizeReference(&count));
    CHECK(count == 1 && happened(""));
    EXPECT(0, aclFinalizeReference(&count));
    CHECK(count == 0 && happened("cd"));
    EXPECT(100037, aclFinalize());
    CHECK(happened(""));
}

static void one_that_fails_stops_it(void) {
    init_answer = 4711;
    EXPECT(4711, aclInit(NULL));
    CHECK(happened("a"));
    EXPECT(100037, aclFinalizeReference(NULL)); /* it was never initialised */
    init_answer = 0;
    EXPECT(0, aclInit(NULL));
    CHECK(happened("ab"));
    finalize_answer = 4712;
    EXPECT(4712, aclFinalize());
    CHECK(happened("c"));
    finalize_answer = 0;
    EXPECT(0, aclFinalize());
    CHECK(happened("cd"));
}

static void a_late_one_is_called_at_once(void) {
    EXPECT(0, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, init_a));
    EXPECT(0, aclInit(NULL));
    CHECK(happened("b"));
    init_answer = 4711; /* does not count */
    EXPECT(0, aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, init_a, order));
    CHECK(happened("a"));
    EXPECT(0, aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, finalize_c));
    EXPECT(0, aclFinalize());
    CHECK(happened("d"));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    arguments();
    registering();
    they_are_called_in_order();
    one_that_fails_stops_it();
    a_late_one_is_called_at_once();
    return 0;
}
