"""The ids of users."""


def user_id(value: object, name: str = "user") -> str:
    """Returns a user id as the API reads it: a string as it is, an integer, also one such as 42.0, as its decimal text.

    name: the field, for the message. Raises `TypeError` for any other value, and for integers that the API cannot read
    exactly: floats from 2^53 on, and those of more than 64 bits.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64:
        return str(int(value))
    raise TypeError(f"`{name}` must be a string or an integer.")
