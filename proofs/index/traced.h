/* C++ integers that compute as C's do and notice when they wrap: kernel sources are compiled with them on the host (tie.py), so that
 * every value on the way to an index is seen. */
#ifndef TKI_PROOFS_INDEX_TRACED_H
#define TKI_PROOFS_INDEX_TRACED_H

#include <limits>
#include <type_traits>

typedef __int128 Z;

/* What the computation under way has met: results of 32-bit operations, and whether a value did not fit. */
struct computation {
    enum { MOST = 256 };
    Z step[MOST];
    unsigned count;
    bool wrapped;

    void begin()
    {
        count = 0;
        wrapped = false;
    }
    template <class T> T fit(Z value)
    {
        if (value < (Z)std::numeric_limits<T>::min() || value > (Z)std::numeric_limits<T>::max())
            wrapped = true;
        return (T)value;
    }
    template <class T> T note(Z value)
    {
        if (sizeof(T) == 4 && count < MOST)
            step[count++] = value;
        return fit<T>(value);
    }
};
inline computation now;

template <class T> struct traced;
template <class N> struct plain_of {
    typedef N type;
};
template <class T> struct plain_of<traced<T>> {
    typedef T type;
};
template <class N> constexpr bool is_traced = !std::is_same<typename plain_of<N>::type, N>::value;
template <class N> constexpr bool is_number = is_traced<N> || std::is_integral<N>::value || std::is_enum<N>::value;

template <class N> Z exact(N n)
{
    if constexpr (is_traced<N>)
        return n.value;
    else
        return (Z)n;
}

template <class T> struct traced {
    T value;

    traced() = default;
    template <class N, class = std::enable_if_t<is_number<N>>> traced(N n) : value(now.fit<T>(exact(n)))
    {
    }
    explicit operator bool() const
    {
        return value != 0;
    }
};

/* The type of an operation, by C's rules; enums are ints. */
template <class N> struct promoted {
    typedef typename plain_of<N>::type type;
};
template <class A, class B> using common = decltype(+typename promoted<A>::type() + +typename promoted<B>::type());

template <class A, class B> constexpr bool are_mixed = (is_traced<A> || is_traced<B>)&&is_number<A> &&is_number<B>;

#define TKI_TRACED_OPERATOR(op, expression)                                                                          \
    template <class A, class B, class = std::enable_if_t<are_mixed<A, B>>>                                           \
    traced<common<A, B>> operator op(A a, B b)                                                                       \
    {                                                                                                                \
        typedef common<A, B> type;                                                                                   \
        const Z x = now.fit<type>(exact(a)), y = now.fit<type>(exact(b));                                            \
        traced<type> result;                                                                                         \
        result.value = now.note<type>(expression);                                                                   \
        return result;                                                                                               \
    }                                                                                                                \
    template <class T, class B, class = std::enable_if_t<is_number<B>>> traced<T> &operator op##=(traced<T> &a, B b) \
    {                                                                                                                \
        return a = a op b;                                                                                           \
    }
TKI_TRACED_OPERATOR(+, x + y)
TKI_TRACED_OPERATOR(-, x - y)
TKI_TRACED_OPERATOR(*, x *y)
TKI_TRACED_OPERATOR(/, y == 0 ? (now.wrapped = true, (Z)0) : x / y)
TKI_TRACED_OPERATOR(%, y == 0 ? (now.wrapped = true, (Z)0) : x % y)
TKI_TRACED_OPERATOR(<<, x *((Z)1 << (int)y))
TKI_TRACED_OPERATOR(>>, x >> (int)y)
TKI_TRACED_OPERATOR(&, x &y)
TKI_TRACED_OPERATOR(|, x | y)
TKI_TRACED_OPERATOR(^, x ^ y)
#undef TKI_TRACED_OPERATOR

#define TKI_TRACED_COMPARISON(op)                                                                     \
    template <class A, class B, class = std::enable_if_t<are_mixed<A, B>>> bool operator op(A a, B b) \
    {                                                                                                 \
        return now.fit<common<A, B>>(exact(a)) op now.fit<common<A, B>>(exact(b));                    \
    }
TKI_TRACED_COMPARISON(<)
TKI_TRACED_COMPARISON(>)
TKI_TRACED_COMPARISON(<=)
TKI_TRACED_COMPARISON(>=)
TKI_TRACED_COMPARISON(==)
TKI_TRACED_COMPARISON(!=)
#undef TKI_TRACED_COMPARISON

template <class T> traced<T> operator-(traced<T> a)
{
    traced<T> result;
    result.value = now.note<T>(-exact(a));
    return result;
}

template <class T> traced<T> &operator++(traced<T> &a)
{
    return a = a + 1;
}

template <class T> traced<T> operator++(traced<T> &a, int)
{
    const traced<T> before = a;
    a = a + 1;
    return before;
}

template <class A, class B, class = std::enable_if_t<are_mixed<A, B>>> traced<common<A, B>> min(A a, B b)
{
    return a < b ? traced<common<A, B>>(a) : traced<common<A, B>>(b);
}

template <class A, class B, class = std::enable_if_t<are_mixed<A, B>>> traced<common<A, B>> max(A a, B b)
{
    return a > b ? traced<common<A, B>>(a) : traced<common<A, B>>(b);
}

#endif
