/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Approximate types for C++17, based on libapproxftl.
 *
 * An approx<T> holds a T that may come back with flipped bits. Precise values convert to it
 * implicitly; only endorse() converts back, and so marks the places where the program tolerates a
 * wrong value. An approx<T> cannot be an index, a pointer, a size or a condition by accident: that
 * does not compile.
 */
#ifndef APPROXFTL_APPROX_HPP
#define APPROXFTL_APPROX_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <approxftl.h>

namespace approxftl {

template <typename T> class approx;

template <typename T> struct is_approx : std::false_type {};
template <typename T> struct is_approx<approx<T>> : std::true_type {};

/* The type within an approx<T>, or T itself. */
template <typename T> struct precise_of { using type = T; };
template <typename T> struct precise_of<approx<T>> { using type = T; };
template <typename T> using precise_of_t = typename precise_of<T>::type;

/* It has the representation of T, so arrays of it can be written, read and mapped. */
template <typename T> class approx {
	static_assert(std::is_arithmetic_v<T>,
		      "only numbers can lose bits: a pointer, a class or a reference cannot");

public:
	approx() = default;
	constexpr approx(T value) : value_(value) {}

	/* Convert from another approximate type. */
	template <typename U> constexpr approx(approx<U> other)
		: value_(static_cast<T>(other.endorse())) {}

	/* Get the value, whether or not bits have flipped. */
	[[nodiscard]] constexpr T endorse() const { return value_; }

	template <typename U> constexpr approx &operator+=(U other) { return *this = *this + other; }
	template <typename U> constexpr approx &operator-=(U other) { return *this = *this - other; }
	template <typename U> constexpr approx &operator*=(U other) { return *this = *this * other; }
	template <typename U> constexpr approx &operator/=(U other) { return *this = *this / other; }
	template <typename U> constexpr approx &operator%=(U other) { return *this = *this % other; }
	template <typename U> constexpr approx &operator&=(U other) { return *this = *this & other; }
	template <typename U> constexpr approx &operator|=(U other) { return *this = *this | other; }
	template <typename U> constexpr approx &operator^=(U other) { return *this = *this ^ other; }
	template <typename U> constexpr approx &operator<<=(U other) { return *this = *this << other; }
	template <typename U> constexpr approx &operator>>=(U other) { return *this = *this >> other; }

private:
	T value_;
};

template <typename T> constexpr precise_of_t<T> endorse(T value)
{
	if constexpr (is_approx<T>::value)
		return value.endorse();
	else
		return value;
}

/* Enabled if one operand is approximate and the other is approximate or a number. */
template <typename A, typename B> using if_either_is_approx = std::enable_if_t<
	(is_approx<A>::value || is_approx<B>::value) &&
	std::is_arithmetic_v<precise_of_t<A>> && std::is_arithmetic_v<precise_of_t<B>>, int>;

#define APPROXFTL_BINARY(op)                                                                    \
	template <typename A, typename B, if_either_is_approx<A, B> = 0>                         \
	constexpr auto operator op(A a, B b)                                                     \
		-> approx<decltype(std::declval<precise_of_t<A>>() op std::declval<precise_of_t<B>>())> \
	{                                                                                        \
		return endorse(a) op endorse(b);                                                 \
	}

APPROXFTL_BINARY(+)
APPROXFTL_BINARY(-)
APPROXFTL_BINARY(*)
APPROXFTL_BINARY(/)
APPROXFTL_BINARY(%)
APPROXFTL_BINARY(&)
APPROXFTL_BINARY(|)
APPROXFTL_BINARY(^)
APPROXFTL_BINARY(<<)
APPROXFTL_BINARY(>>)
APPROXFTL_BINARY(==)
APPROXFTL_BINARY(!=)
APPROXFTL_BINARY(<)
APPROXFTL_BINARY(<=)
APPROXFTL_BINARY(>)
APPROXFTL_BINARY(>=)

#undef APPROXFTL_BINARY

template <typename T> constexpr auto operator-(approx<T> a) -> approx<decltype(-a.endorse())>
{
	return -a.endorse();
}

template <typename T> constexpr auto operator~(approx<T> a) -> approx<decltype(~a.endorse())>
{
	return ~a.endorse();
}

constexpr approx<bool> operator!(approx<bool> a)
{
	return !a.endorse();
}

/* Choose one of two approximate values by a condition that may be wrong. */
template <typename T> constexpr approx<T> select(approx<bool> which, approx<T> yes, approx<T> no)
{
	return which.endorse() ? yes : no;
}

/* A failed call: the error number, and the library's message. */
class error : public std::system_error {
public:
	explicit error(int negative)
		: std::system_error(-negative, std::generic_category(), approxftl_reason(nullptr)) {}
};

/* Throw if the result is an error; return it otherwise. */
template <typename T> T check(T result)
{
	if (result < 0)
		throw error(static_cast<int>(result));
	return result;
}

/* A handle; see approxftl_open(). */
class device {
public:
	explicit device(const char *path = nullptr, unsigned int flags = 0)
	{
		struct approxftl_handle *opened;

		check(approxftl_open(path, flags, &opened));
		handle_.reset(opened);
	}

	struct approxftl_handle *get() const { return handle_.get(); }
	bool active() const { return approxftl_active(get()); }

private:
	struct closer {
		void operator()(struct approxftl_handle *a) const { approxftl_close(a); }
	};
	std::unique_ptr<struct approxftl_handle, closer> handle_;
};

/* While this exists, O_DIRECT writes of the creating thread have the given class. */
class region {
public:
	region(const device &on, enum approxftl_class kind, const char *label = nullptr)
		: on_(on.get())
	{
		check(approxftl_region_begin(on_, kind, label));
	}
	~region() { approxftl_region_end(on_); }
	region(const region &) = delete;
	region &operator=(const region &) = delete;

private:
	struct approxftl_handle *on_;
};

/* A file. Elements of type approx<T> are written as approximate data, all others as precise. */
class file {
public:
	file(const device &on, const std::string &path, int flags = O_RDWR | O_CREAT,
	     mode_t mode = 0666)
		: on_(on.get()), fd_(::open(path.c_str(), flags | O_CLOEXEC, mode))
	{
		if (fd_ < 0)
			throw std::system_error(errno, std::generic_category(), path);
	}
	~file() { ::close(fd_); }
	file(const file &) = delete;
	file &operator=(const file &) = delete;

	int descriptor() const { return fd_; }

	void tag(off_t offset = 0, off_t length = APPROXFTL_TO_END,
		 enum approxftl_class kind = APPROXFTL_APPROXIMATE)
	{
		check(approxftl_tag(on_, fd_, offset, length, kind));
	}
	void untag(off_t offset = 0, off_t length = APPROXFTL_TO_END)
	{
		check(approxftl_untag(on_, fd_, offset, length));
	}
	void protect(off_t offset, off_t length)
	{
		check(approxftl_protect(on_, fd_, offset, length));
	}
	void remember() { check(approxftl_remember(on_, fd_)); }
	int recall() { return check(approxftl_recall(on_, fd_)); }

	struct approxftl_errors errors(off_t offset = 0, off_t length = APPROXFTL_TO_END) const
	{
		struct approxftl_errors found;

		check(approxftl_errors(on_, fd_, offset, length, &found));
		return found;
	}
	/* Count the errors of units with one quality level. */
	struct approxftl_errors level_errors(unsigned int level, off_t offset = 0,
					     off_t length = APPROXFTL_TO_END) const
	{
		struct approxftl_errors found;

		check(approxftl_level_errors(on_, fd_, offset, length, level, &found));
		return found;
	}

	/* @level: quality level of approximate data */
	template <typename T>
	void write(const T *data, std::size_t count, off_t offset, unsigned int level = 1)
	{
		static_assert(std::is_trivially_copyable_v<T>);
		const enum approxftl_class kind =
			is_approx<T>::value ? approxftl_level_class(level) : APPROXFTL_PRECISE;
		const char *from = reinterpret_cast<const char *>(data);
		std::size_t left = count * sizeof(T);

		while (left) {
			ssize_t done = check(approxftl_pwrite(on_, fd_, from, left, offset, kind));

			from += done;
			offset += done;
			left -= static_cast<std::size_t>(done);
		}
	}

	/* Return: number of whole elements read. */
	template <typename T> std::size_t read(T *data, std::size_t count, off_t offset) const
	{
		static_assert(std::is_trivially_copyable_v<T>);
		char *to = reinterpret_cast<char *>(data);
		std::size_t wanted = count * sizeof(T), have = 0;
		ssize_t done = 1;

		while (have < wanted && done) {
			done = ::pread(fd_, to + have, wanted - have, offset + static_cast<off_t>(have));
			if (done < 0)
				throw std::system_error(errno, std::generic_category(), "read");
			have += static_cast<std::size_t>(done);
		}
		return have / sizeof(T);
	}

	void sync()
	{
		if (::fdatasync(fd_))
			throw std::system_error(errno, std::generic_category(), "fdatasync");
	}

private:
	struct approxftl_handle *on_;
	int fd_;
};

/* Approximate memory, backed by a file. */
class arena {
public:
	arena(const device &on, int descriptor)
	{
		struct approxftl_arena *created;

		check(approxftl_arena_create(on.get(), descriptor, &created));
		arena_.reset(created);
	}

	struct approxftl_arena *get() const { return arena_.get(); }
	void sync() { check(approxftl_arena_sync(get())); }

	off_t offset(const void *memory) const
	{
		return check(approxftl_arena_offset(get(), memory));
	}

	/* Find data of an earlier run; nullptr beyond the end of the file. */
	template <typename T> approx<T> *at(off_t offset) const
	{
		return static_cast<approx<T> *>(approxftl_arena_at(get(), offset));
	}

private:
	struct destroyer {
		void operator()(struct approxftl_arena *a) const { approxftl_arena_destroy(a); }
	};
	std::unique_ptr<struct approxftl_arena, destroyer> arena_;
};

/* For containers whose elements alone are approximate: the allocator puts them in an arena. */
template <typename T> class allocator {
	static_assert(is_approx<T>::value,
		      "only approx<T> may be here: a container's own pointers must not lose bits");

public:
	using value_type = T;

	explicit allocator(const arena &from) : arena_(from.get()) {}
	template <typename U> allocator(const allocator<U> &other) : arena_(other.arena_) {}

	T *allocate(std::size_t count)
	{
		void *memory = count <= PTRDIFF_MAX / sizeof(T) ?
				       approxftl_alloc(arena_, count * sizeof(T)) : nullptr;

		if (!memory)
			throw std::bad_alloc();
		return static_cast<T *>(memory);
	}
	void deallocate(T *memory, std::size_t) { approxftl_free(arena_, memory); }

	template <typename U> bool operator==(const allocator<U> &other) const
	{
		return arena_ == other.arena_;
	}
	template <typename U> bool operator!=(const allocator<U> &other) const
	{
		return !(*this == other);
	}

private:
	template <typename U> friend class allocator;
	struct approxftl_arena *arena_;
};

/* An array in an arena. */
template <typename T> using array = std::vector<approx<T>, allocator<approx<T>>>;

} /* namespace approxftl */

#endif
